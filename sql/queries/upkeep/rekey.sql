-- Moving everything to other keys (O-10). Where the form of URLs changes no other program writes meanwhile: all leases
-- are held, and feeders refuse. Where the suffix list alone changes, programs that know the new one go on.

-- name: find_key_form
-- As all stores have it, those of earlier programs, too.
SELECT form_version, suffix_version FROM key_form

-- name: find_stated
SELECT form_version, suffix_version, moving FROM key_form

-- name: lock_key_form
-- FOR SHARE: a transaction that has read it ends before keys begin to be moved.
-- one row: the table has no more.
SELECT form_version, suffix_version FROM key_form FOR SHARE

-- name: record_first_key_form
INSERT INTO key_form (form_version, suffix_version) VALUES (%(form_version)s, %(suffix_version)s)
ON CONFLICT DO NOTHING

-- name: record_key_form
-- one row: the table has no more.
UPDATE key_form SET form_version = %(form_version)s, suffix_version = %(suffix_version)s, moving = %(moving)s

-- name: lock
SELECT pg_advisory_xact_lock(hashtextextended('weboid rekey', 0))

-- name: record_leases_taken
-- under lock: upkeep/rekey lock, and all leases are the rekey's.
UPDATE lease SET worker = %(worker)s, epoch = epoch + 1, until = 'infinity' WHERE until < now()

-- name: list_workers
SELECT DISTINCT worker FROM lease WHERE until >= now() AND worker <> %(worker)s ORDER BY worker

-- name: record_leases_given_back
-- under lock: upkeep/rekey lock, and all leases are the rekey's.
UPDATE lease SET until = '-infinity' WHERE worker = %(worker)s

-- name: record_leases_lost
-- What a crawler has read in these buckets it does not write any more.
UPDATE lease SET epoch = epoch + 1, worker = '', until = '-infinity'
FROM (
    SELECT bucket FROM unnest(%(buckets)s::smallint[]) AS given (bucket) JOIN lease USING (bucket)
    ORDER BY lease.bucket
    FOR NO KEY UPDATE OF lease
) AS locked
WHERE lease.bucket = locked.bucket

-- name: list_hosts_after
-- fan-out: all hosts, in batches by key.
SELECT bucket, host_key, host FROM host
WHERE (bucket, host_key) > (%(bucket)s::smallint, %(host_key)s::bigint)
ORDER BY bucket, host_key
LIMIT %(limit)s

-- name: count_urls_of_hosts
SELECT count(*) FROM url JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
    USING (bucket, host_key)

-- name: list_urls_of_hosts
-- Some of them, host by host: who moves these and asks again gets the others.
SELECT url.bucket, url.host_key, url_key, scheme, host, port, path
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
JOIN host USING (bucket, host_key)
CROSS JOIN LATERAL (
    SELECT * FROM url WHERE url.bucket = given.bucket AND url.host_key = given.host_key
    ORDER BY url_key
    LIMIT %(limit)s
) AS url
LIMIT %(limit)s

-- name: list_urls
-- All URLs, in batches by key. The limit is applied before the join: otherwise each batch would be merged with the
-- hosts from the first one on.
-- fan-out: all buckets, from a key on.
SELECT bucket, host_key, url_key, scheme, host, port, path
FROM (
    SELECT bucket, host_key, url_key, scheme, port, path FROM url
    WHERE (bucket, host_key, url_key) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
    ORDER BY bucket, host_key, url_key
    LIMIT %(limit)s
) AS url
JOIN host USING (bucket, host_key)
ORDER BY bucket, host_key, url_key

-- name: lock_pages
SELECT count(*) FROM (
    SELECT FROM page
    JOIN (
        SELECT DISTINCT wiki, page
        FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
            AS given (bucket, host_key, url_key)
        JOIN link USING (bucket, host_key, url_key)
    ) AS using_them USING (wiki, page)
    ORDER BY page.wiki, page.page
    FOR NO KEY UPDATE OF page
) AS locked

-- name: list_pages
SELECT wiki, page, urls FROM page
JOIN (
    SELECT DISTINCT wiki, page
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    JOIN link USING (bucket, host_key, url_key)
) AS using_them USING (wiki, page)

-- name: record_page_urls
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
UPDATE page SET urls = given.urls
FROM unnest(%(wiki)s::integer[], %(page)s::integer[], %(urls)s::bytea[]) AS given (wiki, page, urls)
WHERE page.wiki = given.wiki AND page.page = given.page

-- name: record_moved_dead
-- under lock: urls/lock lock_urls, of the same URLs before.
WITH gone AS (
    DELETE FROM dead
    USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
    JOIN link USING (bucket, host_key, url_key)
    WHERE dead.wiki = link.wiki AND dead.page = link.page
        AND dead.bucket = given.bucket AND dead.host_key = given.host_key AND dead.url_key = given.url_key
    RETURNING dead.wiki, dead.page, given.new_bucket, given.new_host_key, given.new_url_key, dead.since,
        dead.rule, dead.repaired
)
INSERT INTO dead (wiki, page, bucket, host_key, url_key, since, rule, repaired) SELECT * FROM gone
ON CONFLICT DO NOTHING

-- name: record_moved_links
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
WITH gone AS (
    DELETE FROM link
    USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
    WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
    RETURNING link.wiki, link.page, given.new_bucket, given.new_host_key, given.new_url_key
)
INSERT INTO link (wiki, page, bucket, host_key, url_key) SELECT * FROM gone
ON CONFLICT DO NOTHING

-- name: delete_links
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
DELETE FROM link
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE link.bucket = gone.bucket AND link.host_key = gone.host_key AND link.url_key = gone.url_key

-- name: record_moved_changes
-- under lock: urls/lock lock_urls, of the same URLs before.
UPDATE change SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE change.bucket = given.bucket AND change.host_key = given.host_key AND change.url_key = given.url_key

-- name: record_moved_reports
-- under lock: urls/lock lock_urls, of the same URLs before.
WITH gone AS (
    DELETE FROM report
    USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
    WHERE report.bucket = given.bucket AND report.host_key = given.host_key AND report.url_key = given.url_key
    RETURNING report AS before, given.new_bucket, given.new_host_key, given.new_url_key
)
INSERT INTO report SELECT moved.* FROM gone CROSS JOIN LATERAL jsonb_populate_record(before, jsonb_build_object(
    'bucket', new_bucket, 'host_key', new_host_key, 'url_key', new_url_key)) AS moved

-- name: record_moved_replacements
-- under lock: urls/lock lock_urls, of the same URLs before.
UPDATE replacement SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE replacement.bucket = given.bucket AND replacement.host_key = given.host_key
    AND replacement.url_key = given.url_key

-- name: record_moved_reverts
-- under lock: urls/lock lock_urls, of the same URLs before.
UPDATE revert SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE revert.bucket = given.bucket AND revert.host_key = given.host_key AND revert.url_key = given.url_key

-- name: record_moved_looks
-- What another place finds, or has found, counts for the URL as before.
-- under lock: urls/lock lock_urls, of the same URLs before.
-- fan-out: the looks of the last days, of which there are few.
UPDATE second_look SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE second_look.bucket = given.bucket AND second_look.host_key = given.host_key
    AND second_look.url_key = given.url_key

-- name: delete_equal_reverts
-- Before the reverts of URLs that fall together are moved to one of them: of those of one revision on a wiki one stays,
-- which freezes the link if any of them does.
-- under lock: urls/lock lock_urls, of the same URLs before.
DELETE FROM revert
USING (
    SELECT revert, row_number() OVER (
            PARTITION BY given.new_bucket, given.new_host_key, given.new_url_key, wiki, revision ORDER BY state, revert
        ) AS place
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
    JOIN revert USING (bucket, host_key, url_key)
) AS same
WHERE revert.revert = same.revert AND same.place > 1

-- name: record_moved_urls
-- under lock: urls/lock lock_urls, of the same URLs before.
WITH gone AS (
    DELETE FROM url
    USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[],
        %(scheme)s::smallint[], %(port)s::integer[], %(path)s::text[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key, scheme, port, path)
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    RETURNING url AS before, given.new_bucket, given.new_host_key, given.new_url_key, given.scheme, given.port, given.path
)
INSERT INTO url SELECT moved.* FROM gone CROSS JOIN LATERAL jsonb_populate_record(before, jsonb_build_object(
    'bucket', new_bucket, 'host_key', new_host_key, 'url_key', new_url_key, 'scheme', scheme, 'port', port,
    'path', path)) AS moved

-- name: record_orphaned
-- under lock: urls/lock lock_urls, of the same URLs before.
UPDATE url SET orphaned = given.orphaned
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(orphaned)s::smallint[])
    AS given (bucket, host_key, url_key, orphaned)
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    AND url.orphaned IS DISTINCT FROM given.orphaned

-- name: list_hosts
SELECT bucket, host_key, host, strikes, failing_since, failing_until, evidence, reason FROM host
JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key) USING (bucket, host_key)

-- name: record_hosts
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
INSERT INTO host (bucket, host_key, host, reversed, strikes, failing_since, failing_until, evidence, reason)
SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(host)s::text[], %(reversed)s::text[],
    %(strikes)s::smallint[], %(failing_since)s::smallint[], %(failing_until)s::smallint[], %(evidence)s::integer[],
    %(reason)s::smallint[])
ON CONFLICT (bucket, host_key) DO UPDATE
SET strikes = excluded.strikes, failing_since = excluded.failing_since, failing_until = excluded.failing_until,
    evidence = excluded.evidence, reason = excluded.reason

-- name: record_copied_specials
-- under lock: urls/lock lock_hosts, of the same hosts before.
INSERT INTO special (bucket, host_key, kind, since, until)
SELECT new_bucket, new_host_key, kind, min(since), max(until)
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(new_bucket)s::smallint[], %(new_host_key)s::bigint[])
    AS given (bucket, host_key, new_bucket, new_host_key)
JOIN special USING (bucket, host_key)
GROUP BY new_bucket, new_host_key, kind
ON CONFLICT (bucket, host_key, kind) DO UPDATE
SET since = least(special.since, excluded.since), until = greatest(special.until, excluded.until)

-- name: record_copied_faces
-- Of hosts that are merged the face that was learned last counts.
-- under lock: urls/lock lock_hosts, of the same hosts before.
INSERT INTO face (bucket, host_key, learned, face)
SELECT DISTINCT ON (new_bucket, new_host_key) new_bucket, new_host_key, learned, face
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(new_bucket)s::smallint[], %(new_host_key)s::bigint[])
    AS given (bucket, host_key, new_bucket, new_host_key)
JOIN face USING (bucket, host_key)
ORDER BY new_bucket, new_host_key, learned DESC
ON CONFLICT (bucket, host_key) DO UPDATE
SET learned = excluded.learned, face = excluded.face
WHERE face.learned < excluded.learned

-- name: record_copied_slots
-- under lock: urls/lock lock_hosts, of the same hosts before.
INSERT INTO slot (bucket, host_key, free)
SELECT new_bucket, new_host_key, max(free)
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(new_bucket)s::smallint[], %(new_host_key)s::bigint[])
    AS given (bucket, host_key, new_bucket, new_host_key)
JOIN slot USING (bucket, host_key)
GROUP BY new_bucket, new_host_key
ON CONFLICT (bucket, host_key) DO UPDATE SET free = greatest(slot.free, excluded.free)

-- name: list_spam_links
SELECT wiki, page, bucket, host_key, url_key, url, day FROM spam_link
WHERE (wiki, page, bucket, host_key, url_key)
    > (%(wiki)s::integer, %(page)s::integer, %(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
ORDER BY wiki, page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: delete_spam_links
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
DELETE FROM spam_link
USING unnest(%(wiki)s::integer[], %(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[],
    %(url_key)s::bigint[]) AS gone (wiki, page, bucket, host_key, url_key)
WHERE spam_link.wiki = gone.wiki AND spam_link.page = gone.page AND spam_link.bucket = gone.bucket
    AND spam_link.host_key = gone.host_key AND spam_link.url_key = gone.url_key

-- name: record_spam_links
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
INSERT INTO spam_link (wiki, page, bucket, host_key, url_key, url, day)
SELECT * FROM unnest(%(wiki)s::integer[], %(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[],
    %(url_key)s::bigint[], %(url)s::text[], %(day)s::smallint[])
ON CONFLICT DO NOTHING

-- name: delete_domain_reports
-- under lock: upkeep/rekey lock, as all others write one row at a time.
DELETE FROM domain_report RETURNING bucket, domain, day, subject, name

-- name: record_domain_reports
INSERT INTO domain_report (bucket, domain, day, subject, name)
SELECT * FROM unnest(%(bucket)s::smallint[], %(domain)s::text[], %(day)s::smallint[], %(subject)s::text[],
    %(name)s::text[]) AS given (bucket, domain, day, subject, name)
ORDER BY bucket, domain
ON CONFLICT DO NOTHING
