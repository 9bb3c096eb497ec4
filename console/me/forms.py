"""What a person may send."""

from django import forms


class CorrectionForm(forms.Form):
    """What a memory should say instead."""

    text = forms.CharField(
        label="What it should say",
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        strip=True,
    )


class EraseForm(forms.Form):
    """The word that keeps a slip of the finger from erasing everything."""

    confirmation = forms.CharField(label="Type ERASE to confirm", max_length=10)

    def clean_confirmation(self) -> str:
        given: str = self.cleaned_data["confirmation"]
        if given != "ERASE":
            raise forms.ValidationError("Type ERASE, in capital letters.")
        return given
