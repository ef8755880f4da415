"""The identity of people: sessions and signing in."""
