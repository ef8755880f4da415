-- The page that says which wikis are watched ([feed] watched).

-- name: find_watch_list
SELECT source, text, fault, extract(epoch FROM clock_timestamp() - seen)::float
FROM watch_list WHERE source = %(source)s

-- name: record_watch_list
INSERT INTO watch_list (source, seen, text, fault)
VALUES (%(source)s, clock_timestamp(), CASE WHEN %(fault)s::text = '' THEN %(text)s::text END, %(fault)s)
ON CONFLICT (source) DO UPDATE
SET seen = excluded.seen,
    fault = excluded.fault,
    text = CASE WHEN excluded.fault = '' THEN excluded.text ELSE watch_list.text END
