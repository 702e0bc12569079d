/// A string that equals another only where the bytes do.
///
/// `String` also calls two spellings of one character equal (é, and e with an accent); JSON does not.
struct ExactString: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactString, right: ExactString) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
    }
}
