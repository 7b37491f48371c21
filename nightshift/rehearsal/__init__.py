"""The same stack file, program and engine against an emulated AWS, inspected by an independent client."""
