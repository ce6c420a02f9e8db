# The server of docker-compose.yml. BASE is any image with Python 3.11 or newer and its venv module.
ARG BASE=python:3.13-slim
FROM ${BASE}
COPY . /src
RUN python3 -m venv /opt/graphport \
    && /opt/graphport/bin/pip install --no-cache-dir --retries 5 "/src[all]" \
    && mkdir -p /var/lib/graphport \
    && chown 1000:1000 /var/lib/graphport
ENV PATH=/opt/graphport/bin:$PATH HOME=/var/lib/graphport
USER 1000:1000
WORKDIR /var/lib/graphport
ENTRYPOINT ["graphport"]
CMD ["serve"]
