"""Who somebody is: sessions and signing in."""
