-- The members of a category, of some types ('page', 'subcat' or 'page,subcat'), by id: MediaWiki 1.44 and later.
SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model
FROM linktarget
JOIN categorylinks ON cl_target_id = lt_id
JOIN page ON page_id = cl_from
WHERE lt_namespace = 14 AND lt_title = %(title)s
    -- With FIND_IN_SET the server would not use its index by type.
    AND cl_type IN (SUBSTRING_INDEX(%(types)s, ',', 1), SUBSTRING_INDEX(%(types)s, ',', -1))
    AND cl_from > %(after)s
ORDER BY cl_from
LIMIT %(limit)s
