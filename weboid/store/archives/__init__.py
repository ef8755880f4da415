"""Web archives in the store: chosen copies, copies that pages cite, look-ups and their queue, services, savings."""
