-- The nodes of scru64.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- Nodes collide if the bits of one are the first bits of the other: if they share a value of node_ctr, whose 24 bits begin with
-- those of the node.
SELECT scru64_nodes_collide('0/4', '0x80/8'), scru64_nodes_collide('0x8/4', '128/8'), scru64_nodes_collide('0u2r85hm2pt3/16', '0x2af9/16');
WITH nodes AS (
    SELECT id || '/' || size AS node, id << (24 - size) AS first, ((id + 1) << (24 - size)) - 1 AS last
    FROM unnest('{1, 2, 4, 8, 20, 23}'::integer[]) AS size, LATERAL (
        SELECT DISTINCT id % (1 << size) AS id FROM unnest('{0, 1, 2, 3, 8, 128, 255, 524288, 1048575, 4194304, 8388607}'::integer[]) AS id
    ) AS ids
)
SELECT count(*), count(*) FILTER (WHERE scru64_nodes_collide(a.node, b.node)) AS collide,
       count(*) FILTER (WHERE scru64_nodes_collide(a.node, b.node) <> (a.first <= b.last AND b.first <= a.last)) AS different
FROM nodes AS a CROSS JOIN nodes AS b;

-- Nodes as invalid as in scru.scru64_node, and NULL.
SELECT node, error_of(format('SELECT scru64_nodes_collide(%L, ''0/4'')', node)), error_of(format('SELECT scru64_nodes_collide(''0/4'', %L)', node))
FROM unnest(ARRAY['', '4', '1/24', '16/4', '-1/4', '0/4 ', U&'\00e9/4', '0u2r85hm2pt!/16', repeat('1', 100) || '/4']) AS node;
SELECT scru64_nodes_collide(NULL, '0/4'), scru64_nodes_collide('0/4', NULL);
