-- When an event last added links to a page (P-6): what was read of it before does not take them away.
ALTER TABLE page ADD COLUMN grown timestamptz;
