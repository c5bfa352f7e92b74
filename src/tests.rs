//! Tests inside of the server, of what no SQL can see.
