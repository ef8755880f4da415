-- The page ids of what select_category finds, where the link tables are on another host than the pages.
SELECT cl_from
FROM linktarget
JOIN categorylinks ON cl_target_id = lt_id
WHERE lt_namespace = 14 AND lt_title = %(title)s
    AND cl_type IN (SUBSTRING_INDEX(%(types)s, ',', 1), SUBSTRING_INDEX(%(types)s, ',', -1))
    AND cl_from > %(after)s
ORDER BY cl_from
LIMIT %(limit)s
