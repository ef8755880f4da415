-- What crawlers without a database had done here, with the answers they got (O-1).

-- name: record_request
-- Waits for another transaction that has begun with the same request.
INSERT INTO done_request (client, request) VALUES (%(client)s, %(request)s)
ON CONFLICT (client, request) DO NOTHING
RETURNING true

-- name: find_answer
SELECT answer FROM done_request WHERE client = %(client)s AND request = %(request)s

-- name: record_answer
UPDATE done_request SET answer = %(answer)s WHERE client = %(client)s AND request = %(request)s

-- name: delete_past
-- fan-out: deletes the requests of a day ago.
DELETE FROM done_request
USING (
    SELECT client, request FROM done_request WHERE done < now() - interval '1 day'
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE done_request.client = gone.client AND done_request.request = gone.request

