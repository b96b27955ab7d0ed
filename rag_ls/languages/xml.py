"""XML and its kin, which have no grammar here."""

from __future__ import annotations

from rag_ls.languages.comments import SLASHED, TAGGED, Comments
from rag_ls.languages.language import Language, Role

XML = Language(
    name="xml",
    role=Role.DATA,
    suffixes=tuple(
        "xml xsd xsl xslt svg rss atom wsdl xaml plist csproj fsproj vbproj props targets resx pom storyboard xib "
        "dtd ui qrc".split()
    ),
    comments=Comments(pattern=SLASHED.pattern, start=TAGGED.start, end=TAGGED.end),
)
