-- Reverted repairs, as the operators of bots state them, and the links that are frozen by them (B-6).

-- name: record_revert
-- Nothing is returned if the URL is used on no page of the wiki, or if its revert of that revision is known already.
INSERT INTO revert (bucket, host_key, url_key, wiki, page, revision, day, why, reverter, client, subject)
SELECT %(bucket)s, %(host_key)s, %(url_key)s, %(wiki)s, %(page)s, %(revision)s, %(day)s, %(why)s, %(reverter)s, %(client)s,
    %(subject)s
WHERE EXISTS (SELECT FROM link WHERE link.bucket = %(bucket)s AND link.host_key = %(host_key)s
    AND link.url_key = %(url_key)s AND link.wiki = %(wiki)s)
ON CONFLICT (host_key, url_key, bucket, wiki, revision) DO NOTHING
RETURNING revert, bucket, host_key, url_key, wiki, page, revision, day, state, why, reverter, client, reviewer, subject

-- name: find_revert
SELECT revert, bucket, host_key, url_key, wiki, page, revision, day, state, why, reverter, client, reviewer, subject FROM revert
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND wiki = %(wiki)s
    AND revision = %(revision)s

-- name: record_state
-- fan-out: one row by its number. What another administrator has just decided alike is left as it is.
UPDATE revert SET state = %(state)s, reviewer = %(reviewer)s
WHERE revert = %(revert)s AND state <> %(state)s AND state < %(released)s
RETURNING revert, bucket, host_key, url_key, wiki, page, revision, day, state, why, reverter, client, reviewer, subject

-- name: list_newest
-- fan-out: for administrators, by the index of what is not released.
SELECT revert, bucket, host_key, url_key, wiki, page, revision, day, state, why, reverter, client, reviewer, subject FROM revert
WHERE state = %(state)s AND state < 2 AND revert < %(before)s
ORDER BY revert DESC
LIMIT %(limit)s

-- name: list_of_url
SELECT revert, bucket, host_key, url_key, wiki, page, revision, day, state, why, reverter, client, reviewer, subject FROM revert
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND state = %(state)s AND state < 2
    AND revert < %(before)s
ORDER BY revert DESC
LIMIT %(limit)s

-- name: list_pages
-- The wikis of pages, with the addresses of their API, and the titles as far as the pages are watched.
SELECT given.wiki, given.page, wiki.dbname || '@' || farm.name, wiki.api, page.title
FROM unnest(%(wiki)s::integer[], %(page)s::integer[]) AS given (wiki, page)
JOIN wiki ON wiki.wiki = given.wiki
JOIN farm ON farm.farm = wiki.farm
LEFT JOIN page ON page.wiki = given.wiki AND page.page = given.page
