"""What a document gives away: that it is a soft 404, parked, a bot wall or a login wall. Pure."""
