-- The settings pages of wikis (B-1).

-- name: find_settings
SELECT wiki.farm, wiki.dbname, page.text, coalesce(page.fault, '')
FROM wiki LEFT JOIN wiki_settings page USING (wiki)
WHERE wiki.wiki = %(wiki)s

-- name: find_stored
SELECT wiki, day, text, fault FROM wiki_settings WHERE wiki = %(wiki)s

-- name: record_settings
INSERT INTO wiki_settings (wiki, day, text, fault)
VALUES (%(wiki)s, %(day)s, %(text)s, %(fault)s)
ON CONFLICT (wiki) DO UPDATE
SET day = excluded.day,
    fault = excluded.fault,
    text = CASE WHEN excluded.fault = '' THEN excluded.text ELSE wiki_settings.text END
