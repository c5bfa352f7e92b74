// PostgreSQL's JDBC driver. IDs are strings.

import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;

class Jdbc {
    // Prints a line for the test: a name, and the resulting values.
    static void report(String name, Object... values) {
        var line = new StringBuilder(name);
        for (var value : values) line.append(' ').append(value == null ? "NULL" : value);
        System.out.println(line);
    }

    static List<String> strings(ResultSet rows) throws SQLException {
        var strings = new ArrayList<String>();
        while (rows.next()) strings.add(rows.getString(1));
        return strings;
    }

    static void query(Connection connection, String[] ids) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO orders (note) VALUES ('made') RETURNING id")) {
            var rows = insert.executeQuery();
            rows.next();
            String made = rows.getString("id");
            report("made", made);
        }
        try (var insert = connection.prepareStatement("INSERT INTO orders (id, note) VALUES (?, 'given')")) {
            for (String id : ids) {
                insert.setObject(1, id, Types.OTHER);
                insert.executeUpdate();
            }
        }
        String any = "SELECT id FROM orders WHERE note = 'given' AND id = ANY(?) ORDER BY id";
        List<String> found;
        try (var select = connection.prepareStatement(any)) {
            select.setArray(1, connection.createArrayOf("scru128", ids));
            found = strings(select.executeQuery());
        }
        report("found", found.toArray());
    }

    static void byTime(Connection connection) throws SQLException {
        var since = OffsetDateTime.parse("2026-11-01T00:00:00Z");
        String after = "SELECT id FROM orders WHERE note = 'given' AND id >= ?::timestamptz ORDER BY id";
        List<String> found;
        try (var select = connection.prepareStatement(after)) {
            select.setObject(1, since);
            found = strings(select.executeQuery());
        }
        report("found_by_time", found.toArray());
    }

    static void inRange(Connection connection) throws SQLException {
        String within = "SELECT id FROM orders WHERE note = 'given' AND id <@ ? ORDER BY id";
        List<String> found;
        try (var select = connection.prepareStatement(within)) {
            select.setObject(1, "[2026-11-01T00:00:00Z,)", Types.OTHER);
            found = strings(select.executeQuery());
        }
        report("found_in_range", found.toArray());

        String reserved = "SELECT count(*) FROM reservations WHERE during @> ?";
        try (var select = connection.prepareStatement(reserved)) {
            select.setObject(1, "[2026-11-01T00:00:00Z,2026-11-01T00:00:00Z]", Types.OTHER);
            report("reserved", strings(select.executeQuery()).toArray());
        }
    }

    // With a cast in SQL, setString works.
    static void cast(Connection connection, String[] ids) throws SQLException {
        String sql = "INSERT INTO orders (id, note) VALUES (?::scru128, 'cast')";
        try (var insert = connection.prepareStatement(sql)) {
            for (String id : ids) {
                insert.setString(1, id);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    // With stringtype=unspecified in the URL, setString works without a cast.
    static void unspecified(String url, String[] ids) throws SQLException {
        try (var connection = DriverManager.getConnection(url + "&stringtype=unspecified");
             var insert = connection.prepareStatement("INSERT INTO orders (id, note) VALUES (?, 'unspecified')")) {
            for (String id : ids) {
                insert.setString(1, id);
                insert.executeUpdate();
            }
        }
    }

    static void nullable(Connection connection, String[] ids) throws SQLException {
        String sql = "INSERT INTO orders (id, note) VALUES (?, 'null') RETURNING id";
        try (var insert = connection.prepareStatement(sql)) {
            insert.setNull(1, Types.OTHER);
            report("null", strings(insert.executeQuery()).toArray());
        }
        var list = new ArrayList<String>(Arrays.asList(ids));
        list.add(0, null);
        try (var insert = connection.prepareStatement("INSERT INTO lists VALUES (?) RETURNING ids")) {
            insert.setArray(1, connection.createArrayOf("scru128", list.toArray()));
            var rows = insert.executeQuery();
            rows.next();
            report("array", (Object[]) rows.getArray("ids").getArray());
        }
    }

    static void copy(Connection connection, String[] ids) throws Exception {
        CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
        copy.copyIn("COPY copied (id) FROM STDIN", new StringReader(String.join("\n", ids)));
        var copied = new StringWriter();
        copy.copyOut("COPY copied (id) TO STDOUT", copied);
        report("copied", (Object[]) copied.toString().split("\n"));
    }

    static void malformed(Connection connection) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
            insert.setObject(1, "!", Types.OTHER);
            insert.executeUpdate();
        } catch (PSQLException error) {
            report("malformed", error.getSQLState());
        }
    }

    public static void main(String[] ids) throws Exception {
        var uri = URI.create(System.getenv("DATABASE_URL"));
        var login = uri.getUserInfo().split(":");
        String url = "jdbc:postgresql://" + uri.getHost() + ":" + uri.getPort() + uri.getPath()
            + "?user=" + login[0] + "&password=" + login[1];
        try (var connection = DriverManager.getConnection(url)) {
            query(connection, ids);
            byTime(connection);
            inRange(connection);
            cast(connection, ids);
            unspecified(url, ids);
            nullable(connection, ids);
            copy(connection, ids);
            malformed(connection);
        }
    }
}
