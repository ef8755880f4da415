-- Where these pages redirect to within the wiki.
SELECT rd_from, rd_namespace, rd_title
FROM redirect
WHERE rd_from IN %(pages)s AND (rd_interwiki IS NULL OR rd_interwiki = '')
