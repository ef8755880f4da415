-- What a start page shows.

-- name: list_first_pages
-- fan-out: the dead links of a few pages, for people who begin; kept to the pages of one screen.
SELECT page, namespace, title, (SELECT count(*) FROM dead WHERE dead.wiki = page.wiki AND dead.page = page.page) AS dead
FROM page
WHERE wiki = %(wiki)s
ORDER BY page
LIMIT %(limit)s
