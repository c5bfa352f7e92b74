// pgx, version 5. `id` is the first of the IDs. The others are in the table.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// block 4 of go.md#pgx

var ctx = context.Background()

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func collect[T any](rows pgx.Rows) []T {
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	must(err)
	return values
}

func register(conn *pgx.Conn) {
	// block 5 of go.md#pgx
	must(err)
}

func main() {
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	must(err)
	ids := os.Args[1:]
	id, since := ids[0], time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	use(conn, id, ids, since)
	var refused *pgconn.PgError
	if _, err := conn.Exec(ctx, "INSERT INTO orders (id) VALUES ($1)", "!"); errors.As(err, &refused) {
		fmt.Println("malformed", refused.Code)
	}
	var oid uint32
	must(conn.QueryRow(ctx, "SELECT 'scru128'::regtype::oid").Scan(&oid))
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "scru128", OID: oid, Codec: pgtype.ByteaCodec{}})
	var values [][]byte
	for _, id := range ids {
		var value []byte
		must(conn.QueryRow(ctx, "SELECT id FROM orders WHERE id = $1::text::scru128", id).Scan(&value))
		values = append(values, value)
	}
	source := pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) { return []any{values[i]}, nil })
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"id"}, source)
	must(err)
	var bytes []string
	for _, value := range values {
		bytes = append(bytes, hex.EncodeToString(value))
	}
	slices.Sort(bytes)
	fmt.Println("bytes", strings.Join(bytes, " "))
}

func use(conn *pgx.Conn, id string, ids []string, since time.Time) {
	// block 1 of go.md#pgx
	must(err)
	fmt.Println("made", made)
	// block 2 of go.md#pgx
	must(err)
	// block 3 of go.md#pgx
	must(err)
	fmt.Println("later", strings.Join(collect[string](later), " "))
	register(conn)
	// block 6 of go.md#pgx
	must(err)
	fmt.Println("found", strings.Join(collect[string](found), " "))
}
