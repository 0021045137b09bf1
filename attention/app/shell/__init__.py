"""Around the pages: the frame, heading, menu, server and command."""
