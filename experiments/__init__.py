"""The papers' tables and figures on real data: `python -m experiments` lists them, `... PAPER ITEM` measures one."""
