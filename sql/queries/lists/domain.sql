-- What is known of a domain with all hosts below it, for its page (W-6): each statement reads a bounded number of rows.
-- The hosts of a domain are in one bucket, except those below a public suffix that is itself below the domain: so the
-- bucket is taken from each host.

-- name: list_hosts
-- fan-out: a range of names in any buckets.
SELECT hosts.bucket, hosts.host_key, hosts.host, hosts.strikes, hosts.failing_since, hosts.failing_until, hosts.evidence,
    hosts.reason, urls.counted
FROM (
    SELECT * FROM host WHERE reversed >= %(first)s AND reversed < %(end)s ORDER BY reversed LIMIT %(limit)s
) AS hosts
CROSS JOIN LATERAL (
    SELECT count(*) AS counted FROM (
        SELECT FROM url WHERE url.bucket = hosts.bucket AND url.host_key = hosts.host_key LIMIT %(most)s
    ) AS first_urls
) AS urls
ORDER BY hosts.reversed

-- name: list_urls
-- fan-out: a range of names in any buckets.
SELECT hosts.bucket, hosts.host_key, urls.url_key
FROM (SELECT bucket, host_key FROM host WHERE reversed >= %(first)s AND reversed < %(end)s) AS hosts
CROSS JOIN LATERAL (
    SELECT url_key FROM url WHERE url.bucket = hosts.bucket AND url.host_key = hosts.host_key
) AS urls
LIMIT %(limit)s

-- name: count_uses
-- Of the first uses of its URLs, how many each wiki has, and how many of these are dead there. LATERAL and LIMIT find each
-- dead link by its full key: a join might go through all of them.
-- fan-out: a range of names in any buckets.
SELECT wiki.dbname, farm.name, count(*), count(gone.is_dead)
FROM (
    SELECT links.* FROM (SELECT bucket, host_key FROM host WHERE reversed >= %(first)s AND reversed < %(end)s) AS hosts
    CROSS JOIN LATERAL (
        SELECT wiki, page, bucket, host_key, url_key FROM link
        WHERE link.bucket = hosts.bucket AND link.host_key = hosts.host_key
    ) AS links
    LIMIT %(limit)s
) AS used
LEFT JOIN LATERAL (
    SELECT true AS is_dead FROM dead
    WHERE dead.wiki = used.wiki AND dead.page = used.page AND dead.bucket = used.bucket
        AND dead.host_key = used.host_key AND dead.url_key = used.url_key AND dead.rule <> 1
    LIMIT 1
) AS gone ON true
JOIN wiki ON wiki.wiki = used.wiki
JOIN farm ON farm.farm = wiki.farm
GROUP BY wiki.dbname, farm.name
ORDER BY count(*) DESC, wiki.dbname, farm.name

-- name: count_changed
-- By day how many of its URLs died, and how many came back.
-- fan-out: a range of names in any buckets.
SELECT day, count(*) FILTER (WHERE after = 3), count(*) FILTER (WHERE after <> 3)
FROM (
    SELECT log.* FROM (SELECT bucket, host_key FROM host WHERE reversed >= %(first)s AND reversed < %(end)s) AS hosts
    CROSS JOIN LATERAL (
        SELECT day, after FROM change
        WHERE change.bucket = hosts.bucket AND change.host_key = hosts.host_key
            AND (before = 3) <> (after = 3) AND day > %(after)s AND wiki = 0
    ) AS log
    LIMIT %(limit)s
) AS lines
GROUP BY day
