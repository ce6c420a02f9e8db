"""Books made for the tests: an EPUB and a PDF from a few lines of text."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
    'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title></head><body{attributes}>{body}</body></html>'
)


def page(body: str, title: str = "", attributes: str = "") -> str:
    return XHTML.format(title=title, body=body, attributes=attributes)


def epub(
    pages: Mapping[str, str],
    *,
    nav: str = "",
    ncx: str = "",
    title: str = "A Book",
    author: str = "",
    extra: Mapping[str, str] | None = None,
) -> bytes:
    """``pages`` by file name, in reading order; ``nav`` is the inside of its ``<nav>``, ``ncx`` of its ``<navMap>``."""
    manifest = [
        f'<item id="p{n}" href="text/{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(pages)
    ]
    files = {f"OEBPS/text/{name}": text for name, text in pages.items()}
    if nav:
        manifest.append('<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>')
        files["OEBPS/nav.xhtml"] = page(f'<nav epub:type="toc">{nav}</nav><nav epub:type="landmarks"><ol/></nav>')
    if ncx:
        manifest.append('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>')
        files["OEBPS/toc.ncx"] = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(pages)))
    files["OEBPS/content.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator></metadata>"
        f"<manifest>{''.join(manifest)}</manifest><spine>{spine}</spine></package>"
    )
    files["META-INF/container.xml"] = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {"mimetype": "application/epub+zip", **files, **(extra or {})}.items():
            archive.writestr(name, text)
    return out.getvalue()


def pdf(
    pages: Sequence[Sequence[str]], *, outline: Sequence[tuple[str, int]] = (), title: str = "", password: str = ""
) -> bytes:
    """``pages`` as lines of ASCII; ``outline`` are titles and pages from 0."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    reference = writer._add_object(font)  # pypdf has no public way to add a font
    for lines in pages:
        made = writer.add_blank_page(600, 800)
        shown = "".join(f"({line.replace('(', '').replace(')', '')}) Tj 0 -14 Td " for line in lines)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 50 750 Td {shown}ET".encode())
        fonts = DictionaryObject({NameObject("/F1"): reference})
        made[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        made[NameObject("/Contents")] = writer._add_object(stream)
    for name, number in outline:
        writer.add_outline_item(title=name, page_number=number)
    if title:
        writer.add_metadata({"/Title": title, "/Author": "Somebody"})
    if password:
        writer.encrypt(password)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
