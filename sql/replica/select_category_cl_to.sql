-- As select_category, for MediaWiki up to 1.44, which kept the title of the category in cl_to.
SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model
FROM categorylinks
JOIN page ON page_id = cl_from
WHERE cl_to = %(title)s
    AND cl_type IN (SUBSTRING_INDEX(%(types)s, ',', 1), SUBSTRING_INDEX(%(types)s, ',', -1))
    AND cl_from > %(after)s
ORDER BY cl_from
LIMIT %(limit)s
