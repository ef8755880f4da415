-- The pass under way over each wiki (P-5).

-- name: record_start
INSERT INTO pass (wiki, started, step, place, plan) VALUES (%(wiki)s, %(day)s, 0, '', %(plan)s)
ON CONFLICT (wiki) DO UPDATE
SET started = excluded.started, begun = now(), step = 0, place = '', plan = excluded.plan
WHERE pass.plan <> excluded.plan

-- name: find_pass
SELECT started, step, place FROM pass WHERE wiki = %(wiki)s

-- name: record_place
UPDATE pass SET step = %(step)s, place = %(place)s
WHERE wiki = %(wiki)s AND step = %(step_before)s AND place = %(place_before)s
RETURNING wiki

-- name: record_end
WITH ended AS (DELETE FROM pass WHERE wiki = %(wiki)s RETURNING started, begun)
UPDATE wiki
SET passed = %(day)s, pass_days = %(day)s - ended.started, pass_s = extract(epoch FROM now() - ended.begun)::integer
FROM ended WHERE wiki.wiki = %(wiki)s
RETURNING pass_s

-- name: count_records
SELECT count(*), count(*) FILTER (WHERE touched >= %(started)s) FROM page WHERE wiki = %(wiki)s

-- name: record_trees
INSERT INTO category (wiki, title, started, depth)
SELECT %(wiki)s, title, %(started)s, depth
FROM unnest(%(titles)s::text[], %(depths)s::smallint[]) AS given (title, depth)
ORDER BY title
ON CONFLICT (wiki, title) DO UPDATE SET started = excluded.started, depth = excluded.depth
WHERE category.started <> excluded.started OR category.depth IS DISTINCT FROM excluded.depth

-- name: record_trees_gone
DELETE FROM category
USING (
    SELECT wiki, title FROM category WHERE wiki = %(wiki)s AND started < %(started)s
    ORDER BY wiki, title
    FOR UPDATE
) AS gone
WHERE category.wiki = gone.wiki AND category.title = gone.title

-- name: list_in_trees
SELECT title, depth FROM category WHERE wiki = %(wiki)s AND title = ANY(%(titles)s::text[])
