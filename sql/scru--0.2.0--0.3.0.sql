\echo Use "ALTER EXTENSION scru UPDATE TO '0.3.0'" to load this file. \quit
