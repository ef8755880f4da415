-- The settings pages of wikis (B-1).

-- name: find_settings
SELECT wiki.farm, wiki.dbname, page.text, coalesce(page.fault, ''), page.configured
FROM wiki LEFT JOIN wiki_settings page USING (wiki)
WHERE wiki.wiki = %(wiki)s

-- name: find_stored
SELECT wiki, day, text, fault FROM wiki_settings WHERE wiki = %(wiki)s

-- name: record_configured
-- A page that was never read stays so: its day is 0.
INSERT INTO wiki_settings (wiki, day, configured)
SELECT %(wiki)s, 0, %(configured)s::text
WHERE %(configured)s::text IS NOT NULL OR EXISTS (SELECT FROM wiki_settings WHERE wiki = %(wiki)s)
ON CONFLICT (wiki) DO UPDATE SET configured = excluded.configured
WHERE wiki_settings.configured IS DISTINCT FROM excluded.configured

-- name: forget_configured
-- Of wikis that are configured no more.
UPDATE wiki_settings SET configured = NULL
FROM (
    SELECT wiki FROM wiki_settings
    WHERE configured IS NOT NULL AND wiki <> ALL(%(wikis)s::integer[])
    ORDER BY wiki
    FOR NO KEY UPDATE
) AS gone
WHERE wiki_settings.wiki = gone.wiki

-- name: record_settings
INSERT INTO wiki_settings (wiki, day, text, fault)
VALUES (%(wiki)s, %(day)s, %(text)s, %(fault)s)
ON CONFLICT (wiki) DO UPDATE
SET day = excluded.day,
    fault = excluded.fault,
    text = CASE WHEN excluded.fault = '' THEN excluded.text ELSE wiki_settings.text END
