// pgx, version 5. IDs are strings, or bytes in the binary format.
package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

var ctx = context.Background()

// Prints a line for the test: a name, and the resulting values.
func report(name string, values ...string) {
	fmt.Println(strings.Join(append([]string{name}, values...), " "))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func collect[T any](rows pgx.Rows, err error) []T {
	must(err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	must(err)
	return values
}

func inHex(values [][]byte) []string {
	var texts []string
	for _, value := range values {
		texts = append(texts, hex.EncodeToString(value))
	}
	return texts
}

// A codec for strings, which supports only the text format: the binary format of an ID is its bytes.
type idText struct{ pgtype.TextCodec }

func (idText) FormatSupported(format int16) bool { return format == pgtype.TextFormatCode }

// Registers the type and its array type with pgx: as strings with idText{}, as bytes with pgtype.ByteaCodec{}.
func register(conn *pgx.Conn, codec pgtype.Codec) error {
	var oid uint32
	if err := conn.QueryRow(ctx, "SELECT 'scru128'::regtype::oid").Scan(&oid); err != nil {
		return err
	}
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "scru128", OID: oid, Codec: codec})
	array, err := conn.LoadType(ctx, "_scru128")
	if err == nil {
		conn.TypeMap().RegisterType(array)
	}
	return err
}

func query(conn *pgx.Conn, ids []string) {
	var made string
	must(conn.QueryRow(ctx, "INSERT INTO orders (note) VALUES ('made') RETURNING id").Scan(&made))
	for _, id := range ids {
		_, err := conn.Exec(ctx, "INSERT INTO orders (id, note) VALUES ($1, 'given')", id)
		must(err)
	}
	report("made", made)
}

func nullable(conn *pgx.Conn) {
	var id *string
	must(conn.QueryRow(ctx, "INSERT INTO orders (id, note) VALUES ($1, 'null') RETURNING id", nil).Scan(&id))
	if id == nil {
		report("null", "NULL")
	}
}

func byTime(conn *pgx.Conn) {
	since := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	after := "SELECT id FROM orders WHERE note = 'given' AND id >= $1::timestamptz ORDER BY id"
	rows, err := conn.Query(ctx, after, since)
	report("found_by_time", collect[string](rows, err)...)
}

func inRange(conn *pgx.Conn) {
	since := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	from := pgtype.Range[time.Time]{Lower: since, LowerType: pgtype.Inclusive, UpperType: pgtype.Unbounded, Valid: true}
	within := "SELECT id FROM orders WHERE note = 'given' AND id <@ $1::tstzrange ORDER BY id"
	rows, err := conn.Query(ctx, within, from)
	report("found_in_range", collect[string](rows, err)...)

	at := pgtype.Range[time.Time]{
		Lower: since, LowerType: pgtype.Inclusive, Upper: since, UpperType: pgtype.Inclusive, Valid: true,
	}
	var count int
	must(conn.QueryRow(ctx, "SELECT count(*) FROM reservations WHERE during @> $1", at).Scan(&count))
	report("reserved", fmt.Sprint(count))
}

func malformed(conn *pgx.Conn) {
	_, err := conn.Exec(ctx, "INSERT INTO orders (id) VALUES ($1)", "!")
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		report("malformed", refused.Code)
	}
}

func arrays(conn *pgx.Conn, ids []string) {
	must(register(conn, idText{}))
	rows, err := conn.Query(ctx, "SELECT id FROM orders WHERE note = 'given' AND id = ANY($1) ORDER BY id", ids)
	report("found", collect[string](rows, err)...)

	given := []*string{nil}
	for i := range ids {
		given = append(given, &ids[i])
	}
	var array []*string
	must(conn.QueryRow(ctx, "INSERT INTO lists VALUES ($1) RETURNING ids", given).Scan(&array))
	var texts []string
	for _, id := range array {
		if id == nil {
			texts = append(texts, "NULL")
		} else {
			texts = append(texts, *id)
		}
	}
	report("array", texts...)
}

func copyText(conn *pgx.Conn, ids []string) {
	lines := strings.NewReader(strings.Join(ids, "\n") + "\n")
	_, err := conn.PgConn().CopyFrom(ctx, lines, "COPY copied (id) FROM STDIN")
	must(err)
	var copied bytes.Buffer
	_, err = conn.PgConn().CopyTo(ctx, &copied, "COPY copied (id) TO STDOUT")
	must(err)
	report("copied", strings.Fields(copied.String())...)
}

func inBinary(conn *pgx.Conn) {
	must(register(conn, pgtype.ByteaCodec{}))
	rows, err := conn.Query(ctx, "SELECT id FROM orders WHERE note = 'given' ORDER BY id")
	ids := collect[[]byte](rows, err)
	for _, id := range ids {
		_, err := conn.Exec(ctx, "INSERT INTO orders (id, note) VALUES ($1, 'binary')", id)
		must(err)
	}
	rows, err = conn.Query(ctx, "SELECT id FROM orders WHERE note = 'binary' AND id = ANY($1) ORDER BY id", ids)
	report("found_in_binary", inHex(collect[[]byte](rows, err))...)
	var array [][]byte
	must(conn.QueryRow(ctx, "SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'binary'").Scan(&array))
	report("array_in_binary", inHex(array)...)

	source := pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) { return []any{ids[i]}, nil })
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"copied_in_binary"}, []string{"id"}, source)
	must(err)
	rows, err = conn.Query(ctx, "SELECT id FROM copied_in_binary")
	report("copied_in_binary", inHex(collect[[]byte](rows, err))...)
}

func main() {
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
		must(err)
		return conn
	}
	conn, ids := connect(), os.Args[1:]
	query(conn, ids)
	nullable(conn)
	byTime(conn)
	inRange(conn)
	malformed(conn)
	arrays(conn, ids)
	copyText(conn, ids)
	inBinary(connect())
}
