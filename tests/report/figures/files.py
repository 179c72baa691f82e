"""What a reader needs of a figure's files: that they open, and show something."""

from PIL import Image


def assert_opens(files):
    pdf, png = files
    assert (pdf.suffix, png.suffix) == (".pdf", ".png")
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF")
    assert content.rstrip().endswith(b"%%EOF")
    assert len(content) > 2000
    with Image.open(png) as image:
        assert image.format == "PNG"
        image.load()
        width, height = image.size
        colours = image.convert("RGB").getcolors(maxcolors=width * height)
    assert width > 500
    assert height > 200
    assert len(colours) > 20
