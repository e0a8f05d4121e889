"""`midstream doctor`: one module for each thing that is looked at; `examination.py` goes through them."""
