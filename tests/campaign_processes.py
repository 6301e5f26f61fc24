"""What processes of a campaign run in tests of its watchdog; few imports, for every process makes them anew."""

import os
import time


def dies(campaign, connection):
    connection.recv()
    connection.send("trains")
    os._exit(3)


def sleeps(campaign, connection):
    connection.recv()
    connection.send("trains")
    time.sleep(600)
