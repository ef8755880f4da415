-- The wikis that are not closed, by name.
SELECT dbname, lang, name, family, url, slice
FROM meta_p.wiki
WHERE is_closed = 0
ORDER BY dbname
