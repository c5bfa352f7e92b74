// PostgreSQL's JDBC driver. `id` is the first of the IDs. The others are in the table.

import java.io.StringReader;
import java.net.URI;
import java.sql.DriverManager;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.UUID;

import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;

class Jdbc {
    static void report(String name, Iterable<?> values) {
        System.out.print(name);
        for (var value : values) System.out.print(" " + value);
        System.out.println();
    }

    public static void main(String[] ids) throws Exception {
        var uri = URI.create(System.getenv("DATABASE_URL"));
        var login = uri.getUserInfo().split(":");
        String url = "jdbc:postgresql://" + uri.getHost() + ":" + uri.getPort() + uri.getPath()
            + "?user=" + login[0] + "&password=" + login[1];
        String id = ids[0];
        var since = OffsetDateTime.parse("2026-11-01T00:00:00Z");
        ArrayList<String> found = new ArrayList<>(), later = new ArrayList<>(), within = new ArrayList<>();
        try (var connection = DriverManager.getConnection(url)) {
            // block 1 of java.md#jdbc
            report("found", found);
            // block 2 of java.md#jdbc
            report("later", later);
            try (var select = connection.prepareStatement("SELECT id FROM orders WHERE id <@ ? ORDER BY id")) {
                select.setObject(1, "[2026-11-01T00:00:00Z,)", Types.OTHER);
                var rows = select.executeQuery();
                while (rows.next()) within.add(rows.getString(1));
            }
            report("later_in_a_range", within);
            // block 3 of java.md#jdbc
            try (var insert = connection.prepareStatement("INSERT INTO orders (id) VALUES (?::scru128)")) {
                insert.setString(1, "!");
                insert.executeUpdate();
            } catch (PSQLException error) {
                System.out.println("malformed " + error.getSQLState());
            }
            var feed = new ArrayList<UUID>();
            connection.createStatement().execute("CREATE EXTENSION scru_uuidv7");
            var after = connection.createStatement().executeQuery("SELECT gen_uuidv7('2025-01-01')");
            after.next();
            uuids(connection, after.getObject(1, UUID.class), feed);
            System.out.println("uuids " + feed.size());
        }
        try (var connection = DriverManager.getConnection(url + "&stringtype=unspecified");
             var select = connection.prepareStatement("SELECT id FROM orders WHERE id = ?")) {
            select.setString(1, id);
            var rows = select.executeQuery();
            rows.next();
            System.out.println("first " + rows.getString(1));
        }
    }

    static void uuids(java.sql.Connection connection, UUID after, ArrayList<UUID> feed) throws Exception {
        String query = "SELECT gen_uuidv7() AS id WHERE gen_uuidv7('2025-01-02') > ?";
        try (var select = connection.prepareStatement(query)) {
            select.setObject(1, after);
            var rows = select.executeQuery();
            while (rows.next()) feed.add(rows.getObject("id", UUID.class));
        }
    }
}
