// PostgreSQL's JDBC driver on a column of type uuid: IDs are of the class UUID. `java Jdbc.java AFTER`.

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

class Jdbc {
    // Prints a line for the test: a name, and the resulting values.
    static void report(String name, Object... values) {
        var line = new StringBuilder(name);
        for (var value : values) line.append(' ').append(value);
        System.out.println(line);
    }

    static List<UUID> select(Connection connection, String condition, Object value) throws SQLException {
        try (var select = connection.prepareStatement("SELECT id FROM events WHERE " + condition + " ORDER BY id")) {
            select.setObject(1, value);
            var ids = new ArrayList<UUID>();
            var rows = select.executeQuery();
            while (rows.next()) ids.add(rows.getObject(1, UUID.class));
            return ids;
        }
    }

    static void run(Connection connection, UUID after) throws SQLException {
        report("feed", select(connection, "id > ? AND id < uuidv7_horizon()", after).toArray());

        ResultSet row = connection.createStatement().executeQuery(
            "INSERT INTO events (note) VALUES ('made')"
            + " RETURNING id, uuidv7_timestamp(id) AS created_at, uuidv7_prefixed('event', id) AS typeid");
        row.next();
        report("made", row.getObject("id", UUID.class));
        report("created_at", row.getObject("created_at", OffsetDateTime.class).toInstant().toEpochMilli());
        report("typeid", row.getString("typeid"));

        var since = OffsetDateTime.now().minusHours(1);
        report("found_by_time", select(connection, "id >= ?::timestamptz", since).toArray());
    }

    public static void main(String[] arguments) throws Exception {
        var uri = URI.create(System.getenv("DATABASE_URL"));
        var login = uri.getUserInfo().split(":");
        String url = "jdbc:postgresql://" + uri.getHost() + ":" + uri.getPort() + uri.getPath()
            + "?user=" + login[0] + "&password=" + login[1];
        try (var connection = DriverManager.getConnection(url)) {
            run(connection, UUID.fromString(arguments[0]));
        }
    }
}
