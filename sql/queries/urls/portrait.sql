-- Portraits of the documents of the sample (C-11).

-- name: list_portraits
SELECT bucket, host_key, url_key, title, language, author, fingerprint, words
FROM portrait
JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS wanted (bucket, host_key, url_key) USING (bucket, host_key, url_key)

-- name: record_portraits
INSERT INTO portrait (bucket, host_key, url_key, day, title, language, author, fingerprint, words)
SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(day)s::smallint[],
    %(title)s::text[], %(language)s::text[], %(author)s::text[], %(fingerprint)s::bigint[], %(words)s::smallint[])
ON CONFLICT (bucket, host_key, url_key) DO UPDATE
SET day = excluded.day, title = excluded.title, language = excluded.language, author = excluded.author,
    fingerprint = excluded.fingerprint, words = excluded.words
