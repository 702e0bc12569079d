extension UnixTime {
    /// Reads a date of HTTP in any of the three forms that a recipient takes (RFC 9110 §5.6.7).
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. The day of the
    /// week is not compared. A year of two digits is of this century. Returns nil for anything else.
    public init?(httpDate text: String) {
        let parts = text.split { $0 == " " || $0 == "-" }.map(String.init)
        let (day, month, year, time): (String, String, String, String)
        switch parts.count {
        case 6 where parts[0].hasSuffix(",") && parts[5] == "GMT":
            (day, month, time) = (parts[1], parts[2], parts[4])
            year = parts[3].utf8.count == 2 ? "20" + parts[3] : parts[3]
        case 5: (day, month, time, year) = (parts[2], parts[1], parts[3], parts[4])
        default: return nil
        }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let number = months.firstIndex(of: month).map({ String($0 + 1) }), time.utf8.count == 8 else {
            return nil
        }
        let twoDigits = { (text: String) in text.utf8.count == 1 ? "0" + text : text }
        self.init(iso8601: "\(year)-\(twoDigits(number))-\(twoDigits(day))T\(time)Z")
    }
}
