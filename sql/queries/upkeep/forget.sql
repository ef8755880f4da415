-- Forgetting a wiki: what the store has of it, and deleting it. Its pages go as any that are not watched any more.

-- name: count_pages
SELECT count(*), coalesce(sum(octet_length(urls) / 18), 0)::bigint FROM page WHERE wiki = %(wiki)s

-- name: count_urls
-- Of a stretch of buckets the URLs on the wiki's pages, and those of them that no other wiki uses.
SELECT count(*), count(*) FILTER (WHERE is_alone)
FROM (
    SELECT bool_and(wiki = %(wiki)s) AS is_alone FROM link
    WHERE bucket >= %(first)s AND bucket < %(end)s
    GROUP BY bucket, host_key, url_key
    HAVING bool_or(wiki = %(wiki)s)
) AS used

-- name: list_pages
SELECT page, octet_length(urls) / 18 FROM page
WHERE wiki = %(wiki)s
ORDER BY page
LIMIT %(limit)s

-- name: find_last_change
SELECT coalesce(max(change), 0) FROM change

-- name: delete_changes
-- The wiki's own lines in a stretch of the log.
DELETE FROM change
USING (
    SELECT change FROM change WHERE change > %(after)s AND change <= %(last)s AND wiki = %(wiki)s
    ORDER BY change
    FOR UPDATE
) AS gone
WHERE change.change = gone.change

-- name: lock_wiki
-- What still reads pages of it waits, and then finds that the wiki is not there.
SELECT FROM wiki WHERE wiki = %(wiki)s FOR UPDATE

-- name: delete_rest
-- under lock: upkeep/forget lock_wiki, by the same transaction; nobody locks several of these rows without that.
WITH pass_gone AS (DELETE FROM pass WHERE wiki = %(wiki)s),
    pending_gone AS (DELETE FROM pending WHERE wiki = %(wiki)s),
    category_gone AS (DELETE FROM category WHERE wiki = %(wiki)s),
    namespace_gone AS (DELETE FROM namespace WHERE wiki = %(wiki)s),
    total_gone AS (DELETE FROM wiki_total WHERE wiki = %(wiki)s),
    place_gone AS (DELETE FROM wiki_place WHERE wiki = %(wiki)s),
    settings_gone AS (DELETE FROM wiki_settings WHERE wiki = %(wiki)s),
    list_gone AS (DELETE FROM spam_list WHERE farm = %(farm)s AND dbname = %(dbname)s)
DELETE FROM alarm WHERE subject = %(name)s

-- name: delete_rules
DELETE FROM wiki_rule WHERE wiki = %(wiki)s

-- name: delete_reverts
-- under lock: upkeep/forget lock_wiki, by the same transaction.
DELETE FROM revert WHERE wiki = %(wiki)s

-- name: delete_wiki
DELETE FROM wiki WHERE wiki = %(wiki)s
