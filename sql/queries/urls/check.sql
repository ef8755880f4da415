-- What checks found, written in batches (architecture §3).

-- name: list_silent_urls
-- The URLs of one host whose newest check found the host itself failing (C-5), in batches by key.
SELECT url.bucket, url.host_key, url.url_key, url.scheme, '', url.port, url.path,
    url.status, url.since, url.asked, url.older, url.strikes, url.failing_since, url.failing_until, url.evidence,
    url.reason, url.target, url.mime, url.size_kib, url.http, url.state_since,
    url.portrait
FROM url
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key > %(after)s
    AND status = ANY(%(statuses)s::smallint[])
ORDER BY url_key
LIMIT %(limit)s

-- name: record_checks
-- URLs that are never due (32767) are cited copies: others visit them, not the link checker.
-- kept in order: urls/lock keep_order
UPDATE url SET status = given.status, since = given.since, asked = given.asked, older = given.older,
    strikes = given.strikes, failing_since = given.failing_since, failing_until = given.failing_until,
    evidence = given.evidence, reason = given.reason, target = given.target, mime = given.mime, size_kib = given.size_kib,
    http = given.http, state_since = given.state_since, due = given.due, portrait = coalesce(given.portrait, url.portrait),
    meant = CASE WHEN given.strikes > 0 THEN coalesce(given.meant, url.meant) END
FROM (
    SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(status)s::smallint[],
        %(since)s::smallint[], %(asked)s::smallint[], %(older)s::bytea[], %(strikes)s::smallint[],
        %(failing_since)s::smallint[], %(failing_until)s::smallint[], %(evidence)s::integer[], %(reason)s::smallint[],
        %(target)s::text[], %(mime)s::smallint[], %(size_kib)s::integer[], %(http)s::smallint[], %(due)s::smallint[],
        %(portrait)s::bytea[], %(meant)s::text[], %(state_since)s::smallint[])
        AS given (bucket, host_key, url_key, status, since, asked, older, strikes, failing_since, failing_until,
            evidence, reason, target, mime, size_kib, http, due, portrait, meant, state_since)
    ORDER BY bucket, host_key, url_key
) AS given
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    AND (url.due = 32767) = %(cited)s

-- name: record_host_rows
-- The hosts are locked before this statement begins. Only the last check of a visit changes next_day: after the others
-- the host is still due. LATERAL, as a sub-select in the list of columns would be done once for each place that names it.
-- under lock: urls/lock lock_hosts, of the same hosts before.
UPDATE host SET next_day = first.due, strikes = given.strikes, failing_since = given.failing_since,
    failing_until = given.failing_until, evidence = given.evidence, reason = given.reason
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(strikes)s::smallint[], %(failing_since)s::smallint[],
    %(failing_until)s::smallint[], %(evidence)s::integer[], %(reason)s::smallint[])
    AS given (bucket, host_key, strikes, failing_since, failing_until, evidence, reason)
LEFT JOIN LATERAL (
    SELECT due FROM url
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND orphaned IS NULL
    ORDER BY due LIMIT 1
) AS first ON true
WHERE host.bucket = given.bucket AND host.host_key = given.host_key
    AND (host.next_day, host.strikes, host.failing_until)
        IS DISTINCT FROM (first.due, given.strikes, given.failing_until)

-- name: record_next_days
-- The hosts are locked before this statement begins.
-- under lock: urls/lock lock_hosts, of the same hosts before.
UPDATE host SET next_day = first.due
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
LEFT JOIN LATERAL (
    SELECT due FROM url
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND orphaned IS NULL
    ORDER BY due LIMIT 1
) AS first ON true
WHERE host.bucket = given.bucket AND host.host_key = given.host_key AND host.next_day IS DISTINCT FROM first.due

-- name: record_rests
-- The hosts are locked before this statement begins.
-- under lock: urls/lock lock_hosts, of the same hosts before.
UPDATE host SET rests_until = now() + make_interval(secs => given.rest), asked_every = given.every
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(rest_s)s::float8[], %(every_s)s::real[])
    AS given (bucket, host_key, rest, every)
WHERE host.bucket = given.bucket AND host.host_key = given.host_key

-- name: record_due
-- What is never due stays so.
-- under lock: urls/lock lock_urls, of the same URLs before.
UPDATE url SET due = given.due
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(due)s::smallint[])
    AS given (bucket, host_key, url_key, due)
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    AND url.due <> 32767
