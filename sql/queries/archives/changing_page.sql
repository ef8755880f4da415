-- URLs whose documents always change, of which no copy is chosen (A-1).

-- name: record_changing
INSERT INTO changing_page (bucket, host_key, url_key, day)
SELECT bucket, host_key, url_key, %(day)s
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
ORDER BY bucket, host_key, url_key
ON CONFLICT DO NOTHING

-- name: record_lifted
UPDATE changing_page SET lifted = %(lifted)s, subject = %(subject)s, name = %(name)s
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND lifted <> %(lifted)s

-- name: list_changing
SELECT bucket, host_key, url_key, day, lifted, subject, name
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN changing_page USING (bucket, host_key, url_key)

-- name: list_newest
-- fan-out: some hundreds of rows in all.
SELECT bucket, host_key, url_key, day, lifted, subject, name FROM changing_page
ORDER BY day DESC, bucket, host_key, url_key
LIMIT %(limit)s
