// PostgreSQL's JDBC driver. `id` is the first of the IDs. The others are in the table.

import java.io.StringReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;

class Jdbc {
    static void report(String name, List<String> values) {
        System.out.println(name + " " + String.join(" ", values));
    }

    /** Returns the first column of a query with one parameter. */
    static List<String> column(Connection connection, String query, Object parameter, int type) throws SQLException {
        var values = new ArrayList<String>();
        try (var select = connection.prepareStatement(query)) {
            select.setObject(1, parameter, type);
            var rows = select.executeQuery();
            while (rows.next()) values.add(rows.getObject(1).toString()); // a UUID, or a PGobject
        }
        return values;
    }

    public static void main(String[] ids) throws Exception {
        String url = System.getenv("DATABASE_URL")
            .replaceFirst("postgresql://(.*):(.*)@(.*)", "jdbc:postgresql://$3?user=$1&password=$2");
        String id = ids[0];
        var since = OffsetDateTime.parse("2026-11-01T00:00:00Z");
        ArrayList<String> found = new ArrayList<>(), later = new ArrayList<>();
        try (var connection = DriverManager.getConnection(url)) {
            // blocks of java.md#jdbc
            report("found", found);
            report("later", later);
            String within = "SELECT id FROM orders WHERE id <@ ? ORDER BY id";
            report("later_in_a_range", column(connection, within, "[2026-11-01T00:00:00Z,)", Types.OTHER));
            String feed = "SELECT id FROM events WHERE id > ? AND id < uuidv7_horizon() ORDER BY id";
            report("feed", column(connection, feed, UUID.fromString(System.getenv("AFTER")), Types.OTHER));
            try {
                column(connection, "INSERT INTO orders (id) VALUES (?::scru128) RETURNING id", "!", Types.VARCHAR);
            } catch (PSQLException error) {
                System.out.println("malformed " + error.getSQLState());
            }
        }
        try (var connection = DriverManager.getConnection(url + "&stringtype=unspecified")) {
            report("first", column(connection, "SELECT id FROM orders WHERE id = ?", id, Types.VARCHAR));
        }
    }
}
