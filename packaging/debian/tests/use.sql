CREATE EXTENSION scru;
CREATE EXTENSION scru_uuidv7;
CREATE EXTENSION scru_text;
CREATE TABLE ids (
    a scru128 PRIMARY KEY DEFAULT gen_scru128(),
    b ulid UNIQUE DEFAULT gen_ulid(),
    c scru160 UNIQUE DEFAULT gen_scru160(),
    d scru64 UNIQUE DEFAULT gen_scru64(),
    e ulidflake UNIQUE DEFAULT gen_ulidflake()
);
INSERT INTO ids SELECT FROM generate_series(1, 1000);
DO $$
BEGIN
    ASSERT (SELECT count(*) = 1000 FROM ids WHERE scru128_timestamp(a) > now() - interval '1 hour');
    ASSERT (SELECT array_agg(d ORDER BY b) = array_agg(d ORDER BY d) FROM ids);
END
$$;
