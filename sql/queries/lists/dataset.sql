-- The public data set: statuses per wiki and host, and all URLs (W-13).

-- name: list_statuses
-- A stretch of buckets; the stretches are read one after the other, so no statement runs for long.
SELECT wiki.farm, wiki.dbname, host.host, url.status, count(DISTINCT url.url_key), count(*),
    count(DISTINCT url.url_key) FILTER (WHERE dead.rule <> 1)
FROM link
JOIN url USING (bucket, host_key, url_key)
JOIN host USING (bucket, host_key)
JOIN wiki USING (wiki)
LEFT JOIN dead USING (wiki, page, bucket, host_key, url_key)
WHERE link.bucket >= %(first)s AND link.bucket < %(end)s
GROUP BY wiki.farm, wiki.dbname, host.host, url.status
ORDER BY wiki.farm, wiki.dbname, host.host, url.status

-- name: list_urls
-- The next URLs of a stretch of buckets, each with one line for each farm that uses it. The limit is applied before the
-- joins, and nothing that is missing takes a URL out, so that no lines mean the end.
SELECT url.bucket, url.host_key, url.url_key, url.scheme, host.host, url.port, url.path,
    url.status, url.since, url.asked, url.older, url.strikes, url.failing_since, url.failing_until, url.evidence,
    url.reason, url.target, url.mime, url.size_kib, url.http, url.state_since,
    host.strikes, host.failing_since, host.failing_until, host.evidence, host.reason, used.farm, used.uses, used.wikis
FROM (
    SELECT * FROM url
    WHERE bucket >= %(first)s AND bucket < %(end)s AND orphaned IS NULL
        AND (bucket, host_key, url_key) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
    ORDER BY bucket, host_key, url_key
    LIMIT %(limit)s
) AS url
LEFT JOIN host ON host.bucket = url.bucket AND host.host_key = url.host_key
LEFT JOIN LATERAL (
    SELECT wiki.farm, count(*) AS uses, string_agg(DISTINCT wiki.dbname, ' ' ORDER BY wiki.dbname) AS wikis
    FROM link JOIN wiki USING (wiki)
    WHERE link.bucket = url.bucket AND link.host_key = url.host_key AND link.url_key = url.url_key
    GROUP BY wiki.farm
) AS used ON true
ORDER BY url.bucket, url.host_key, url.url_key, used.farm

-- name: record_piece
INSERT INTO dataset (day, farm, kind, part, piece, lines, body)
VALUES (%(day)s, %(farm)s, %(kind)s, %(part)s, %(piece)s, %(lines)s, %(body)s)

-- name: find_newest_day
SELECT max(day) FROM dataset WHERE kind = %(kind)s

-- name: count_parts
-- The number of different parts of a day's files of a kind.
SELECT count(*) FROM (
    SELECT FROM dataset WHERE day = %(day)s AND kind = %(kind)s AND piece = 0 GROUP BY part
) AS parts

-- name: list_whole
-- Files of which all parts are there, and which are not shown yet.
SELECT day, farm, kind FROM dataset
WHERE NOT EXISTS (SELECT FROM dataset_file AS shown
    WHERE shown.day = dataset.day AND shown.farm = dataset.farm AND shown.kind = dataset.kind)
GROUP BY day, farm, kind
HAVING count(*) FILTER (WHERE piece = 0) = %(parts)s
ORDER BY day, farm, kind

-- name: record_file
INSERT INTO dataset_file (day, farm, kind, lines, size, sha256)
VALUES (%(day)s, %(farm)s, %(kind)s, %(lines)s, %(size)s, %(sha256)s)

-- name: list_files
SELECT day, farm, farm.name, kind, lines, size, sha256 FROM dataset_file JOIN farm USING (farm)
ORDER BY day DESC, farm.name, kind

-- name: list_pieces
SELECT part, piece, lines, octet_length(body) FROM dataset
WHERE day = %(day)s AND farm = %(farm)s AND kind = %(kind)s
ORDER BY part, piece

-- name: find_piece
SELECT substring(body FROM %(first)s + 1) FROM dataset
WHERE day = %(day)s AND farm = %(farm)s AND kind = %(kind)s AND part = %(part)s AND piece = %(piece)s

-- name: delete_old_pieces
DELETE FROM dataset
USING (
    SELECT day, farm, kind, part, piece FROM dataset WHERE day < %(day)s
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE dataset.day = gone.day AND dataset.farm = gone.farm AND dataset.kind = gone.kind AND dataset.part = gone.part
    AND dataset.piece = gone.piece

-- name: delete_old_files
DELETE FROM dataset_file
USING (
    SELECT day, farm, kind FROM dataset_file WHERE day < %(day)s
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE dataset_file.day = gone.day AND dataset_file.farm = gone.farm AND dataset_file.kind = gone.kind
