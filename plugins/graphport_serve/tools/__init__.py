"""The MCP tools: typed, structured, bounded in size, and safe to retry where they say so."""
