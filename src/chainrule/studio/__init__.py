"""The studio: the whole course, live in the browser.

    page (static/)  ⇄  server (app, guard, live, sessions)  ⇄  child process (player, activity)

An activity is a generator in a file of `activities/`. It runs in a child process of its own, which
can be paused, stepped and killed. The page is hand-written ES modules; nothing is built or fetched.
"""
