-- Tasks of the robot and their runs (R-5).

-- name: lock_task
-- Held by the session, as a run takes longer than any transaction.
SELECT pg_try_advisory_lock(hashtextextended('weboid robot task ' || %(name)s, 0))

-- name: unlock_task
SELECT pg_advisory_unlock(hashtextextended('weboid robot task ' || %(name)s, 0))

-- name: find_starts
SELECT starts FROM robot_task WHERE name = %(name)s

-- name: begin_run
-- A run that did not come to its end goes on, unless it is of long ago.
INSERT INTO robot_task (name, starts, orders, run, day) VALUES (%(name)s, %(starts)s, %(orders)s, 1, %(day)s)
ON CONFLICT (name) DO UPDATE SET
    run = robot_task.run + (robot_task.ended IS NOT NULL OR robot_task.day < %(oldest)s)::integer,
    day = CASE
        WHEN robot_task.ended IS NULL AND robot_task.day >= %(oldest)s THEN robot_task.day ELSE excluded.day
    END,
    starts = excluded.starts, orders = excluded.orders, begun = now(), ended = NULL
RETURNING task, run, whole_run

-- name: end_run
UPDATE robot_task SET
    statistics = %(statistics)s,
    ended = CASE WHEN %(is_whole)s THEN now() ELSE ended END,
    whole_run = CASE WHEN %(is_whole)s THEN run ELSE whole_run END
WHERE task = %(task)s

-- name: list_past
-- Entries that no run has asked for since, and all of tasks that are over.
SELECT task, url_key FROM robot_entry WHERE asked < %(before)s
ORDER BY task, url_key
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED

-- name: delete_links
-- under lock: site/task list_past, by the same transaction.
DELETE FROM robot_link USING unnest(%(task)s::integer[], %(url_key)s::bigint[]) AS past (task, url_key)
WHERE robot_link.task = past.task AND robot_link.url_key = past.url_key

-- name: delete_pages
-- under lock: site/task list_past, by the same transaction.
DELETE FROM robot_page USING unnest(%(task)s::integer[], %(url_key)s::bigint[]) AS past (task, url_key)
WHERE robot_page.task = past.task AND robot_page.url_key = past.url_key

-- name: delete_entries
-- under lock: site/task list_past, by the same transaction.
DELETE FROM robot_entry USING unnest(%(task)s::integer[], %(url_key)s::bigint[]) AS past (task, url_key)
WHERE robot_entry.task = past.task AND robot_entry.url_key = past.url_key

-- name: delete_past_tasks
DELETE FROM robot_task
USING (SELECT task FROM robot_task WHERE day < %(before)s FOR UPDATE SKIP LOCKED) AS past
WHERE robot_task.task = past.task
