// node-postgres. IDs are strings, or buffers with their bytes. COPY uses the package pg-copy-streams.

import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

import pg from 'pg';
import { from, to } from 'pg-copy-streams';

// Prints a line for the test: a name, and the resulting values.
function report(name, values) {
  console.log(name, ...values.map((value) => value?.toString('hex') ?? 'NULL'));
}

async function query(client, ids) {
  const { rows: [made] } = await client.query("INSERT INTO orders (note) VALUES ('made') RETURNING id");
  for (const id of ids) {
    await client.query("INSERT INTO orders (id, note) VALUES ($1, 'given')", [id]);
  }
  const select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY($1) ORDER BY id";
  const { rows: found } = await client.query(select, [ids]);

  report('made', [made.id]);
  report('found', found.map((row) => row.id));
}

async function nullable(client, ids) {
  const insert = "INSERT INTO orders (id, note) VALUES ($1, 'null') RETURNING id";
  const { rows: [order] } = await client.query(insert, [null]);
  report('null', [order.id]);

  const textArray = 1009;
  const { rows: [{ oid }] } = await client.query("SELECT 'scru128[]'::regtype::oid");
  pg.types.setTypeParser(oid, pg.types.getTypeParser(textArray));
  const { rows: [list] } = await client.query('INSERT INTO lists VALUES ($1) RETURNING ids', [[null, ...ids]]);
  report('array', list.ids);
}

async function byTime(client) {
  const since = new Date('2026-11-01T00:00:00Z');
  const select = "SELECT id FROM orders WHERE note = 'given' AND id >= $1::timestamptz ORDER BY id";
  const { rows: found } = await client.query(select, [since]);

  report('found_by_time', found.map((row) => row.id));
}

async function copy(client, ids) {
  const lines = Readable.from(ids.map((id) => `${id}\n`));
  await pipeline(lines, client.query(from('COPY copied (id) FROM STDIN')));
  const copied = await text(client.query(to('COPY copied (id) TO STDOUT')));

  report('copied', copied.trimEnd().split('\n'));
}

async function malformed(client) {
  try {
    await client.query('INSERT INTO orders (id) VALUES ($1)', ['!']);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    report('malformed', [error.code]);
  }
}

async function asBuffers(client) {
  const { rows } = await client.query("SELECT id::bytea FROM orders WHERE note = 'given' ORDER BY id");
  for (const { id } of rows) {
    await client.query("INSERT INTO orders (id, note) VALUES ($1, 'binary')", [id]);
  }

  report('found_in_binary', rows.map((row) => row.id));
}

const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
const ids = process.argv.slice(2);
await query(client, ids);
await nullable(client, ids);
await byTime(client);
await copy(client, ids);
await malformed(client);
await asBuffers(client);
await client.end();
