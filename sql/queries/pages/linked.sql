-- What is known of the links of a page, for its answer (W-1, W-10).

-- name: find_linked
-- One row for each URL that is given, in any order: its place among them, then NULL as `status` if it is not known. LIMIT
-- and LATERAL, so that each is found by its full key. Hosts are read of what fails only, what people said and what is
-- kept of copies only where an answer shows it, as JSON, for there may be several rows of it. Two columns of the first
-- URL have the spam links of the pages and the settings of the wiki, so that all of it comes in one round trip. Then
-- comes whether the URL is frozen on the wiki (B-6), for which none is looked for where no revert counts; by LIMIT, as for
-- EXISTS all reverts of a wiki might be read. Then the URL itself if it is `named`: only then are the hosts of URLs that
-- work read, too. Last what was probably meant. Of URLs that work and are no notable files only the first has a row where
-- `few` are wanted: most of a page's are such, and an answer that only counts them took 5 % of its time for their rows.
SELECT given.place, url.status, url.since, url.asked, url.older, url.strikes, url.failing_since, url.failing_until,
    url.evidence, url.reason, url.target, url.mime, url.size_kib, url.http, url.state_since,
    url.due,
    host.strikes, host.failing_since, host.failing_until, host.evidence, host.reason,
    CASE WHEN url.reason = ANY(%(failing)s::smallint[]) THEN (
        SELECT json_agg(json_build_array(domain_report.domain, host.host, report.day,
            CASE WHEN domain_report.subject IS NOT NULL THEN domain_report.day END,
            CASE WHEN domain_report.subject IS NULL THEN domain_report.day END,
            replacement.archive, replacement.target))
        FROM (SELECT) AS one
        LEFT JOIN report ON report.bucket = given.bucket AND report.host_key = given.host_key
            AND report.url_key = given.url_key
        LEFT JOIN domain_report ON domain_report.bucket = given.bucket
            AND right(host.host, length(domain_report.domain)) = domain_report.domain
        LEFT JOIN replacement ON replacement.bucket = given.bucket AND replacement.host_key = given.host_key
            AND replacement.url_key = given.url_key AND replacement.works
        WHERE report.day IS NOT NULL OR domain_report.day IS NOT NULL OR replacement.target IS NOT NULL
    ) END,
    CASE WHEN NOT url.reason = ANY(%(working)s::smallint[]) AND url.due < 32767 THEN (
        SELECT json_agg(json_build_array(archive, outcome, asked, due, passed, stamp, origin, wanted, note, address,
            strikes, preview))
        FROM (
            SELECT archive, NULL::smallint AS outcome, asked, due, NULL AS passed, stamp, origin, wanted, note, address,
                strikes, preview
            FROM snapshot
            WHERE snapshot.bucket = given.bucket AND snapshot.host_key = given.host_key
                AND snapshot.url_key = given.url_key
            UNION ALL
            SELECT archive, outcome, asked, due, passed, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM lookup
            WHERE lookup.bucket = given.bucket AND lookup.host_key = given.host_key
                AND lookup.url_key = given.url_key
        ) AS kept
    ) END,
    CASE WHEN url.due = 32767 THEN (
        SELECT cited_copy.due FROM cited_copy
        WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key
            AND cited_copy.url_key = given.url_key
    ) END,
    CASE WHEN given.place = 1 THEN (
        SELECT json_agg(json_build_array(page, bucket, host_key, url_key, spam_link.url))
        FROM spam_link
        WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])
    ) END,
    CASE WHEN given.place = 1 THEN (
        SELECT json_build_array(wiki.farm, wiki.dbname, page.text, coalesce(page.fault, ''), page.configured)
        FROM wiki LEFT JOIN wiki_settings page USING (wiki)
        WHERE wiki.wiki = %(wiki)s
    ) END,
    (SELECT state FROM revert WHERE state < 2 LIMIT 1) IS NOT NULL
        AND (SELECT true FROM revert WHERE revert.bucket = given.bucket AND revert.host_key = given.host_key
        AND revert.url_key = given.url_key AND revert.wiki = %(wiki)s AND revert.state < 2 LIMIT 1) IS NOT NULL,
    CASE WHEN %(named)s AND url.status IS NOT NULL THEN json_build_array(url.scheme, host.host, url.port, url.path) END,
    url.meant
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    WITH ORDINALITY AS given (bucket, host_key, url_key, place)
LEFT JOIN LATERAL (
    SELECT * FROM url
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    LIMIT 1
) AS url ON true
LEFT JOIN LATERAL (
    SELECT * FROM host
    WHERE host.bucket = given.bucket AND host.host_key = given.host_key
        AND (%(named)s OR url.strikes > 0 OR NOT url.reason = ANY(%(working)s::smallint[]))
    LIMIT 1
) AS host ON true
WHERE NOT %(few)s OR %(named)s OR given.place = 1
    OR (url.reason = ANY(%(working)s::smallint[]) AND url.asked IS NOT NULL AND url.mime IS NULL) IS NOT TRUE
