//! Python bindings: signatures, conversion, errors; no logic.
