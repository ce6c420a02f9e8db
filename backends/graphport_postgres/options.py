"""What a user may set; the same for both backends."""

from __future__ import annotations

from pydantic import Field, SecretStr, field_validator, model_validator

from graphport.storage import BackendOptions


class PostgresOptions(BackendOptions):
    """``dsn`` is a libpq connection string or URL; TLS options (``sslmode``, ``sslrootcert`` ...) belong in it.

    ``busy_timeout`` is how many seconds a call waits for a lock or a free connection, ``connect_timeout``
    for a new connection, ``statement_timeout`` for one statement (0: as long as it takes). Between
    ``pool_min`` and ``pool_max`` connections are kept; each transaction and each unfinished iterator holds one.
    """

    dsn: SecretStr
    busy_timeout: float = Field(default=10.0, gt=0, le=86_400, allow_inf_nan=False)
    connect_timeout: float = Field(default=10.0, ge=2, le=3_600, allow_inf_nan=False)
    statement_timeout: float = Field(default=0.0, ge=0, le=86_400, allow_inf_nan=False)
    pool_min: int = Field(default=1, ge=0, le=1_000)
    pool_max: int = Field(default=8, ge=1, le=1_000)

    @field_validator("dsn")
    @classmethod
    def _dsn_is_given(cls, dsn: SecretStr) -> SecretStr:
        if not dsn.get_secret_value().strip():
            raise ValueError("dsn is empty; give postgresql://user@host/database or 'host=... dbname=...'")
        return dsn

    @model_validator(mode="after")
    def _pool_sizes_fit(self) -> PostgresOptions:
        if self.pool_min > self.pool_max:
            raise ValueError(f"pool_min is {self.pool_min} and pool_max {self.pool_max}; it must not be larger")
        return self
