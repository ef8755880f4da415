-- Which pages of the sites that the robot has mapped lead to a URL, and what they say of themselves (R-8): `leads_to` =
-- keys of those URLs that are written in full, in normal form.
ALTER TABLE robot_page ADD COLUMN title text NOT NULL DEFAULT '', ADD COLUMN description text NOT NULL DEFAULT '';
ALTER TABLE robot_link ADD COLUMN leads_to bigint[] NOT NULL DEFAULT '{}';
CREATE INDEX robot_link_leads_to ON robot_link USING gin (leads_to);
