//! The agents' face: MCP tools over stdio, and the router that finds the sidecar.
