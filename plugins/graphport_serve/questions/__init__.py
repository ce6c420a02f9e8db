"""Questions to one knowledge base: functions of it that REST and MCP share."""
