#!/usr/bin/env bash
# What is drawn of strategies, recipes and their options goes together, and computes what one rank does (rank_sweep.sh).
exec "$(dirname "$0")/rank_sweep.sh" losses
